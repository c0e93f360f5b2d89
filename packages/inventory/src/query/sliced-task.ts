/**
 * A computation in short steps with a result, run by `yield*` within Steps of
 * the slicer.
 */
export type SlicedTask<T> = Generator<void, T, void>;
