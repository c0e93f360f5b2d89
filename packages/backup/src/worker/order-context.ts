/** What runs besides the operation. */
export interface OrderContext {
  readonly signal: AbortSignal;
  /** Called often: figures of the operation that runs. */
  readonly onProgress: (figures: Readonly<Record<string, number>>) => void;
}
