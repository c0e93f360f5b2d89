/** A model that contradicts itself: it names what is not there, or twice, or numbers that are none. */
export class InvalidModel extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InvalidModel";
  }
}
