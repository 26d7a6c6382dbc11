# The Homebrew formula, for a tap. For a release, set the addresses and the sdist's checksum, then
# `brew update-python-resources acp-tui` adds the packages it needs.
class AcpTui < Formula
  include Language::Python::Virtualenv

  desc "Terminal client for coding agents that speak the Agent Client Protocol"
  homepage "@REPOSITORY@"
  url "@SDIST_URL@"
  sha256 "@SDIST_SHA256@"
  license all_of: ["MIT", "Unicode-3.0"]

  depends_on "rust" => :build # pydantic-core, watchfiles
  depends_on "pillow"
  depends_on "python@3.13"

  def install
    virtualenv_install_with_resources
    generate_completions_from_executable(bin/"acp-tui", "completion", shells: [:bash, :zsh, :fish])
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/acp-tui --version")
    system bin/"acp-tui", "render", "demo:coding", "-o", "coding.svg"
    assert_path_exists testpath/"coding.svg"
  end
end
