/** Steps that end in a value: work in slices, done by `yield*` within Steps. */
export type Work<T> = Generator<void, T, void>;
