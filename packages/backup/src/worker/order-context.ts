/** What runs besides the operation. */
export interface OrderContext {
  readonly signal: AbortSignal;
  /** Called often: figures of the operation that runs. */
  readonly onProgress: (figures: Readonly<Record<string, number>>) => void;
}

/** Of operations that request data from the server during their run. */
export interface AskingContext extends OrderContext {
  /** Asks who gave the order; one question at a time. @returns the answer, JSON */
  readonly request: (question: object) => Promise<unknown>;
}
