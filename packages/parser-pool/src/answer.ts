import { parseLenient, type DecodedAnswer } from "@xo-server/model";
import type { JsonText, RawAnswer } from "./formats/format.js";

/** Converts the result of a task to the answer: the only place where JSON of a value is parsed to objects. */
export function answerOf(
  raw: RawAnswer,
  classNameOf: (name: string) => string,
): DecodedAnswer {
  if (raw.outcome === "failure") return raw;
  const { encoding, value, token, counts } = raw;
  return {
    outcome: "success",
    encoding,
    ...(value !== undefined && { value: valueOf(value) }),
    ...(token !== undefined && { token }),
    ...(counts !== undefined && {
      validRefCounts: new Map(
        counts.map(([name, count]) => [classNameOf(name), count]),
      ),
    }),
  };
}

function valueOf({ buffer, offset, length, lenient }: JsonText): unknown {
  const text = Buffer.from(buffer, offset, length).toString();
  return lenient ? parseLenient(text) : JSON.parse(text);
}
