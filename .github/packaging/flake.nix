# `nix run ./.github/packaging` from a clone. It leaves out the extra `terminal`: commands show as plain text.
{
  description = "A terminal client for coding agents that speak the Agent Client Protocol";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  inputs.source = {
    url = "path:../..";
    flake = false;
  };

  outputs =
    { nixpkgs, source, ... }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      package =
        pkgs:
        pkgs.python3Packages.buildPythonApplication {
          pname = "acp-tui";
          version = "0.9.0";
          pyproject = true;
          src = source;
          build-system = [ pkgs.python3Packages.hatchling ];
          dependencies = with pkgs.python3Packages; [
            textual
            rich
            anyio
            pydantic
            pydantic-core
            watchfiles
            platformdirs
            tomlkit
            markdown-it-py
            pygments
            regex
            pillow
          ];
          pythonRelaxDeps = true; # nixpkgs has one version of each
          pythonImportsCheck = [ "acp_tui" ];
          meta.mainProgram = "acp-tui";
        };
    in
    {
      packages = nixpkgs.lib.genAttrs systems (system: {
        default = package nixpkgs.legacyPackages.${system};
      });
    };
}
