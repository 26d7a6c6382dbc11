"""Messages: what a line means, however odd, and that everything written is strict JSON-RPC."""

import json
from typing import Any

import pytest

from acp_tui.rpc import ErrorCode, RequestFailed, RequestId
from acp_tui.rpc.messages import (
    MAX_CONTAINERS,
    MAX_VALUES,
    PIECE_CHARACTERS,
    ErrorResponse,
    Malformed,
    Notification,
    Request,
    Result,
    read_message,
    result_pieces,
    write_failure,
    write_notification,
    write_request,
    write_result,
)

HALF_PAIR = "\ud83d"


def read_failure(line: bytes) -> RequestFailed:
    message = read_message(line)
    assert isinstance(message, ErrorResponse)
    return message.error


def read_junk(line: bytes) -> Malformed:
    message = read_message(line)
    assert isinstance(message, Malformed), message
    return message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"jsonrpc":"2.0","method":"m","params":{"a":1}}', Notification("m", {"a": 1})),
        (b'{"jsonrpc":"2.0","id":7,"method":"m","params":[1]}', Request(7, "m", [1])),
        (b'{"jsonrpc":"2.0","id":null,"method":"m","params":{}}', Request(None, "m", {})),
        (b'{"jsonrpc":"2.0","id":7,"result":{"a":1}}', Result(7, {"a": 1})),
        (b'{"jsonrpc":"2.0","id":7,"result":null}', Result(7, None)),
        (b'{"jsonrpc":"2.0","id":7,"result":1,"error":null}', Result(7, 1)),
        (b'{"id":7,"result":1}', Result(7, 1)),
        (b'{"id":7,"method":null,"params":null,"result":1}', Result(7, 1)),
        (b'{"method":"m","params":null}', Notification("m", {})),
        (b'{"method":"m"}', Notification("m", {})),
        (b'{"method":"m","params":{},"extra":{},"_meta":null}', Notification("m", {})),
    ],
)
def test_the_keys_tell_request_notification_and_response_apart(line: bytes, message: object) -> None:
    """R-RPC-1, R-RPC-3."""
    assert read_message(line) == message


@pytest.mark.parametrize("line", [b'{"jsonrpc":"2.0","id":7}', b'{"id":7,"error":null}'])
def test_a_response_that_left_out_its_empty_result_is_a_response(line: bytes) -> None:
    """Written by serializers that drop undefined or null values; treated as junk, its request would wait forever."""
    assert read_message(line) == Result(7, None)


@pytest.mark.parametrize("line", [b"", b"\r", b"  \t\r"])
def test_a_blank_line_is_nothing(line: bytes) -> None:
    assert read_message(line) is None


@pytest.mark.parametrize(
    "line",
    [
        b"Welcome to the agent!",
        b"npm warn deprecated glob@7.2.3",
        b"\x1b[32mready\x1b[0m",
        b"\xff\xfe\x00",
        b"\xef\xbb\xbf",
        b'{"jsonrpc":"2.0","method":"m"',
        b'{"method":"m"}{"method":"m"}',
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"method":"m","id":' + b"1" * 5_000 + b"}",
        b"5",
        b"null",
        b"true",
        b'"x"',
        b"{}",
        b'{"level":"info","msg":"ready"}',
        b'{"id":3,"level":"info","msg":"ready"}',
        b'{"jsonrpc":"2.0","result":1}',
        b'{"jsonrpc":"2.0","id":[1],"result":1}',
        b'{"jsonrpc":"2.0","method":5}',
    ],
    ids=lambda line: line[:30].decode("latin-1"),
)
def test_what_is_no_message_is_kept_as_junk_and_not_answered(line: bytes) -> None:
    """R-TRANS-5, R-TRANS-6."""
    junk = read_junk(line)
    assert (junk.line, junk.answer) == (line, None)
    assert junk.reason


@pytest.mark.parametrize("line", [b"[]", b"[1,2,3]", b'[{"id":1,"method":"m"},{"id":2,"method":"m"}]'])
def test_a_batch_is_answered_once_as_an_invalid_request(line: bytes) -> None:
    """R-TRANS-6."""
    answer = read_junk(line).answer
    assert answer is not None
    assert json.loads(answer)["id"] is None
    assert read_failure(answer).code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("request_id", ["true", "[1]", "{}", "1e999"])
def test_a_request_with_an_impossible_id_is_answered_with_the_id_null(request_id: str) -> None:
    answer = read_junk(b'{"id":%s,"method":"m"}' % request_id.encode()).answer
    assert answer is not None
    assert (json.loads(answer)["id"], read_failure(answer).code) == (None, ErrorCode.INVALID_REQUEST)


@pytest.mark.parametrize("method", ["5", "false", "{}"])
def test_a_request_with_an_impossible_method_is_answered_under_its_own_id(method: str) -> None:
    """R-RPC-4: every request is answered."""
    answer = read_junk(b'{"id":"a","method":%s}' % method.encode()).answer
    assert answer is not None
    assert (json.loads(answer)["id"], read_failure(answer).code) == ("a", ErrorCode.INVALID_REQUEST)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b'\xef\xbb\xbf{"method":"m","params":"x"}', "x"),
        (b'{"method":"m","params":"x"}\r', "x"),
        (b'{"method":"m","params":"a\xffb"}', "a\ufffdb"),
        (b'{"method":"m","params":"\\ud83d"}', HALF_PAIR),
        (b'{"method":"m","params":"\\ud83d\\ude00"}', "\U0001f600"),
    ],
    ids=["byte order mark", "CRLF", "invalid UTF-8", "half a surrogate pair", "a whole pair"],
)
def test_a_message_survives_the_oddities_of_its_encoding(line: bytes, text: str) -> None:
    assert read_message(line) == Notification("m", text)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ({"code": -32000, "message": "log in"}, -32000, "log in"),
        ({"code": 7}, 7, "an error without a message"),
        ({"message": "no code"}, ErrorCode.INTERNAL_ERROR, "no code"),
        ({"code": "7", "message": ""}, ErrorCode.INTERNAL_ERROR, "an error without a message"),
        ("just words", ErrorCode.INTERNAL_ERROR, "an error without a message"),
    ],
)
def test_an_error_is_read_as_far_as_it_can_be(error: Any, code: int, message: str) -> None:
    failure = read_failure(json.dumps({"id": 1, "error": error}).encode())
    assert (failure.code, failure.message) == (code, message)


@pytest.mark.parametrize(
    ("data", "detail"),
    [
        ("the cause", "the cause"),
        ({"details": "the cause", "message": "less"}, "the cause"),
        ({"details": "", "message": "the cause"}, "the cause"),
        ({"details": {"deep": 1}, "error": "the cause"}, "the cause"),
        ({"other": "x"}, None),
        ([1], None),
        (None, None),
    ],
)
def test_an_errors_detail_is_the_cause_that_its_data_names(data: Any, detail: str | None) -> None:
    """R-ERR-2."""
    assert RequestFailed(-1, "failed", data).detail == detail


@pytest.mark.parametrize("request_id", [1, "1", 0, "", None, 1.5, 10**30])
def test_an_id_is_written_back_as_it_came(request_id: RequestId) -> None:
    """R-RPC-2: 1 and "1" are two ids."""
    line = json.dumps({"id": request_id, "method": "m"}).encode()
    message = read_message(line)
    assert isinstance(message, Request)
    for answer in (write_result(message.id, {}), write_failure(message.id, RequestFailed(-1, "no"))):
        assert b'"id":%s,' % json.dumps(request_id).encode() in answer


@pytest.mark.parametrize("text", ["plain", "two\nlines\r\n", "\u2028 and \x85", HALF_PAIR, "日本 \U0001f600"])
def test_what_is_written_is_one_line_that_reads_back_the_same(text: str) -> None:
    """R-TRANS-2."""
    written = write_notification("m", {"text": text})
    assert b"\n" not in written
    assert written.decode() == written.decode("utf-8", "strict")
    assert read_message(written) == Notification("m", {"text": text})


def test_every_message_names_the_version_of_json_rpc() -> None:
    """R-RPC-1, R-RPC-4: and an answer has a result or an error, never both."""
    failed = RequestFailed(ErrorCode.INVALID_PARAMS, "no", {"why": 1})
    assert [json.loads(line) for line in (write_request(1, "m", {}), write_notification("m", {}))] == [
        {"jsonrpc": "2.0", "id": 1, "method": "m", "params": {}},
        {"jsonrpc": "2.0", "method": "m", "params": {}},
    ]
    assert json.loads(write_result(1, None)) == {"jsonrpc": "2.0", "id": 1, "result": None}
    assert json.loads(write_failure(1, failed)) == {
        "jsonrpc": "2.0",
        "id": 1,
        "error": {"code": -32602, "message": "no", "data": {"why": 1}},
    }


def test_an_error_without_data_is_written_without_it() -> None:
    assert "data" not in json.loads(write_failure(1, RequestFailed(-1, "no")))["error"]


@pytest.mark.parametrize("deep", [b"[" * 300 + b"]" * 300, b'{"a":' * 300 + b"1" + b"}" * 300])
def test_json_that_is_nested_too_deep_is_no_message(deep: bytes) -> None:
    message = read_message(b'{"jsonrpc":"2.0","method":"m","params":' + deep + b"}")
    assert isinstance(message, Malformed)
    assert "nested" in message.reason


def test_json_with_much_in_it_that_is_not_deep_is_one() -> None:
    assert isinstance(read_message(b'{"method":"m","params":[' + b"{}," * 999 + b"[]]}"), Notification)


@pytest.mark.parametrize("one", [b"[]", b'{"":0}', b'["\\\\"]', b'["]["]', b'{"\\"":[]}'])
def test_a_line_of_too_many_lists_and_objects_is_no_message(one: bytes) -> None:
    message = read_message(b'{"method":"m","params":[' + b",".join([one] * (MAX_CONTAINERS + 1)) + b"]}")
    assert isinstance(message, Malformed)
    assert "100,000" in message.reason


@pytest.mark.parametrize("one", [b"0", b'""', b'"\\\\"', b'"\\""', b'","', b"1e5"])
def test_a_line_of_too_many_values_is_no_message(one: bytes) -> None:
    message = read_message(b'{"method":"m","params":[' + b",".join([one] * (MAX_VALUES + 2)) + b"]}")
    assert isinstance(message, Malformed)
    assert "1,000,000" in message.reason


@pytest.mark.parametrize("text", ["[]", "{},", '"', '\\"', "\\", '\\",[', '","'])
def test_nothing_within_a_text_counts_as_a_value(text: str) -> None:
    line = write_notification("m", {"content": text * (2 * MAX_VALUES // len(text)), "more": [{}, text]})
    assert isinstance(read_message(line), Notification)


@pytest.mark.parametrize("size", [PIECE_CHARACTERS - 1, PIECE_CHARACTERS, PIECE_CHARACTERS + 1, 3 * PIECE_CHARACTERS])
@pytest.mark.parametrize("unit", ["a", '"', "\\", "\n", "\U0001f600", "\ud83d"])
def test_a_long_text_is_written_by_pieces_and_is_the_same_text(unit: str, size: int) -> None:
    value = {"content": unit * size, "more": {"text": "x", "list": [1, None]}, "none": None, "empty": {}}
    pieces = list(result_pieces("id", value))
    assert max(map(len, pieces)) <= 6 * PIECE_CHARACTERS + 2
    assert json.loads(b"".join(pieces)) == {"jsonrpc": "2.0", "id": "id", "result": value}
