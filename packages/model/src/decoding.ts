/** How an answer is dressed. `json-in-xml`: look at what came, hosts of today answer plain XML-RPC there. */
export type WireEncoding = "json-rpc" | "xml-rpc" | "json-in-xml";

/**
 * What the answer's value is.
 * - `value`: anything; it becomes a JavaScript value.
 * - `records`: `get_all_records`, a map of reference to record.
 * - `events`: `event.from`, a struct of events, valid_ref_counts and token.
 */
export type AnswerShape = "value" | "records" | "events";

/** User calls go before event deltas, those before bulk loads. */
export type DecodePriority = "call" | "event" | "bulk";

export interface DecodeRequest {
  readonly encoding: WireEncoding;
  readonly shape: AnswerShape;
  /** The class of the records, in the datamodel's spelling; needed for `records`. */
  readonly className?: string;
  readonly priority: DecodePriority;
  /** Whose turn it is: one lane a XAPI connection; lanes of a priority take turns. */
  readonly lane: string;
  /** Length of the body in bytes where the pool announced it. */
  readonly contentLength?: number;
}

/** What stood around the records, or the value itself. */
export type DecodedAnswer =
  | {
      readonly outcome: "success";
      /** The encoding that really came. */
      readonly encoding: WireEncoding;
      /** For shape `value`; undefined for the other shapes. */
      readonly value?: unknown;
      /** For shape `events`. */
      readonly token?: string;
      /** For shape `events`: number of live objects by class, in the datamodel's spelling. */
      readonly validRefCounts?: ReadonlyMap<string, number>;
    }
  | {
      readonly outcome: "failure";
      readonly encoding: WireEncoding;
      /** XAPI's error: the code first, then its parameters. */
      readonly error: readonly string[];
    };
