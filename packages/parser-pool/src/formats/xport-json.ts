import { LooseJson } from "./loose-json.js";
import { XportBuilder, type XportTable } from "./xport-table.js";

/**
 * Decodes `{meta: {...}, data: [{t, values: [...]}]}` from the bytes.
 * @param knownLegend key of a legend that the caller has
 * @throws XoError BAD_ANSWER, ANSWER_TOO_DEEP
 */
export function readXportJson(
  bytes: Uint8Array,
  [start, end]: readonly [number, number],
  knownLegend: string | undefined,
): XportTable {
  const reader = new LooseJson(bytes, start, end);
  const builder = new XportBuilder();
  reader.members((key) => {
    if (key === "meta") readMeta(reader, builder);
    else if (key === "data") reader.items(() => readRow(reader, builder));
    else reader.skip();
  });
  return builder.table(knownLegend);
}

function readMeta(reader: LooseJson, builder: XportBuilder): void {
  reader.members((key) => {
    if (key === "step") builder.step = reader.number();
    else if (key === "end") builder.end = reader.number();
    else if (key === "legend")
      reader.items(() => {
        builder.name(reader.bytes());
      });
    else reader.skip();
  });
}

function readRow(reader: LooseJson, builder: XportBuilder): void {
  let time = NaN;
  reader.members((key) => {
    if (key === "t") time = reader.number();
    else if (key === "values")
      reader.items(() => {
        builder.value(reader.number());
      });
    else reader.skip();
  });
  builder.row(time);
}
