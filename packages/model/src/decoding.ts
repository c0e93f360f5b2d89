/**
 * Encoding of a response. `json-in-xml`: the decoder detects the format,
 * because current hosts respond with plain XML-RPC.
 */
export type WireEncoding = "json-rpc" | "xml-rpc" | "json-in-xml";

/**
 * Shape of the result.
 * - `value`: anything; decoded to a JavaScript value.
 * - `records`: `get_all_records`, a map of reference to record.
 * - `events`: `event.from`, a struct of events, valid_ref_counts and token.
 */
export type AnswerShape = "value" | "records" | "events";

/** Priority of decoding: calls of users before events before bulk loads. */
export type DecodePriority = "call" | "event" | "bulk";

export interface DecodeRequest {
  readonly encoding: WireEncoding;
  readonly shape: AnswerShape;
  /**
   * Class of the records in the spelling of the data model; required for
   * `records`.
   */
  readonly className?: string;
  readonly priority: DecodePriority;
  /**
   * Lane for fair scheduling: one per XAPI connection; lanes of the same
   * priority are served in turns.
   */
  readonly lane: string;
  /** Length of the body in bytes, if the pool sent it. */
  readonly contentLength?: number;
  /**
   * The receiver keeps the buffers of the records: a worker returns them in shared
   * memory (RecordBuffer).
   */
  readonly isKept?: boolean | undefined;
}

/** The result without the records of a batch. */
export type DecodedAnswer =
  | {
      readonly outcome: "success";
      /** The encoding that was received. */
      readonly encoding: WireEncoding;
      /** For shape `value`; undefined for the other shapes. */
      readonly value?: unknown;
      /** For shape `events`. */
      readonly token?: string;
      /**
       * For shape `events`: number of existing objects by class, in the
       * spelling of the data model.
       */
      readonly validRefCounts?: ReadonlyMap<string, number>;
    }
  | {
      readonly outcome: "failure";
      readonly encoding: WireEncoding;
      /** XAPI's error description: the code, then its parameters. */
      readonly error: readonly string[];
    };
