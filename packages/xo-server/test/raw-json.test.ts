import t from "tap";
import {
  arrayPieces,
  joinArray,
  joinObject,
  objectPieces,
  RawJson,
} from "../src/encoding/raw-json.js";

const rows = [Buffer.from('{"a":1}'), Buffer.from('"é"')];

t.test("encoded values are put together without decoding them", async (t) => {
  t.equal(joinArray(rows).toString(), '[{"a":1},"é"]');
  t.equal(joinArray([]).toString(), "[]");
  t.equal(joinObject({}, []).toString(), "{}");
  t.equal(
    joinObject({ total: 2 }, [["rows", arrayPieces(rows)]]).toString(),
    '{"total":2,"rows":[{"a":1},"é"]}',
  );
  t.equal(
    joinObject({}, [
      ["first", rows[0]!],
      ["more", objectPieces({ b: 2 }, [["c", rows[1]!]])],
    ]).toString(),
    '{"first":{"a":1},"more":{"b":2,"c":"é"}}',
  );
});

t.test("levels of an answer do not copy its values", async (t) => {
  const answer = new RawJson(
    objectPieces({ total: 2 }, [["rows", arrayPieces(rows)]]),
  );
  const envelope = objectPieces({ id: 1 }, [["result", answer.pieces]]);
  for (const row of rows) t.ok(envelope.includes(row));
  t.equal(answer.bytes.toString(), '{"total":2,"rows":[{"a":1},"é"]}');
});

t.test("an answer that is encoded already has its bytes", async (t) => {
  const answer = new RawJson(rows[0]!);
  t.equal(answer.bytes, rows[0]);
  t.same(answer.pieces, [rows[0]]);
});
