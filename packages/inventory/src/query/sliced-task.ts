/** Steps that end in a value: work in slices, done by `yield*` within Steps. */
export type SlicedTask<T> = Generator<void, T, void>;
