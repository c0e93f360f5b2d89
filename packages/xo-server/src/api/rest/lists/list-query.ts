import { parseFilter, type Filter } from "@xo-server/inventory";
import { XoError } from "@xo-server/model";
import { invalidInput } from "../../errors/invalid-input.js";
import {
  readBoolean,
  readCount,
  readText,
  type QueryValues,
} from "../routing/query-values.js";

/** Query parameters of a REST list, named as in Xen Orchestra (docs/api.md). */
export interface ListQuery {
  /** Requested keys; `*`: all; undefined: hrefs only. */
  readonly fields: readonly string[] | "*" | undefined;
  readonly filter: Filter | undefined;
  /** Infinity: all. */
  readonly limit: number;
  readonly format: "json" | "ndjson" | "markdown";
}

const MAX_FIELDS = 256;
const MAX_FIELD_LENGTH = 256;
const MAX_FILTER_LENGTH = 16_384;

/** @throws XoError INVALID_PARAMETERS, FILTER_INVALID */
export function readListQuery(query: QueryValues): ListQuery {
  const ndjson = readBoolean(query, "ndjson");
  const markdown = readBoolean(query, "markdown");
  if (ndjson && markdown)
    throw invalidInput({
      markdown: { message: "not together with ndjson", value: "true" },
    });
  return {
    fields: readFields(query),
    filter: readFilter(query),
    limit: readCount(query, "limit") ?? Infinity,
    format: ndjson ? "ndjson" : markdown ? "markdown" : "json",
  };
}

function readFields(query: QueryValues): ListQuery["fields"] {
  const text = readText(query, "fields");
  if (text === undefined || text === "*") return text;
  // `href` is always included.
  const names = new Set(text.split(",").map((name) => name.trim()));
  const fields = [...names].filter((name) => name !== "" && name !== "href");
  if (fields.length > MAX_FIELDS)
    throw invalidInput({
      fields: { message: `at most ${MAX_FIELDS} fields` },
    });
  if (fields.some(({ length }) => length > MAX_FIELD_LENGTH))
    throw invalidInput({
      fields: { message: `at most ${MAX_FIELD_LENGTH} characters each` },
    });
  return fields;
}

function readFilter(query: QueryValues): Filter | undefined {
  const text = readText(query, "filter");
  if (text === undefined || text.trim() === "") return undefined;
  if (text.length > MAX_FILTER_LENGTH)
    throw invalidInput({
      filter: { message: `at most ${MAX_FILTER_LENGTH} characters` },
    });
  try {
    return parseFilter(text);
  } catch (error) {
    if (error instanceof XoError && error.code === "FILTER_INVALID")
      throw new XoError(
        "FILTER_INVALID",
        { ...error.data, stringToParse: text },
        error,
      );
    throw error;
  }
}
