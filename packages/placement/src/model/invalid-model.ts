/**
 * Thrown when a model is inconsistent: unknown or duplicate ids, negative or
 * non-finite amounts.
 */
export class InvalidModel extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InvalidModel";
  }
}
