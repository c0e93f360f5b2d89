export {
  createParserPool,
  type AnswerStream,
  type ParserPool,
  type ParserPoolStats,
  type PriorityStats,
} from "./parser-pool.js";
export type { ParserPoolOptions, Place, XmlParser } from "./options.js";
export type { XportTable } from "./formats/xport-table.js";
export type { StreamHandlers } from "./decode-stream.js";
export type { DurationHistogramSnapshot } from "./histogram.js";
export type { IntegerPosition } from "./formats/class-registry.js";
