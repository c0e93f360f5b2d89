/** A tag as XAPI writes it, `<value>`, for comparing four bytes at a time. */
export class XmlTag {
  readonly text: string;
  readonly length: number;
  readonly #words: Int32Array;

  constructor(text: string) {
    this.text = text;
    this.length = text.length;
    const view = new DataView(new Uint8Array(Buffer.from(text)).buffer);
    const words: number[] = [];
    for (let at = 0; at + 4 <= text.length; at += 4)
      words.push(view.getInt32(at, true));
    // The last word may overlap the previous one.
    words.push(view.getInt32(text.length - 4, true));
    this.#words = Int32Array.from(words);
  }

  /** Is the tag at `pos`? At least `length` bytes must follow. */
  isAt(view: DataView, pos: number): boolean {
    const words = this.#words;
    const last = words.length - 1;
    for (let i = 0; i < last; i++)
      if (view.getInt32(pos + 4 * i, true) !== words[i]) return false;
    return view.getInt32(pos + this.length - 4, true) === words[last];
  }
}

export const VALUE = new XmlTag("<value>");
export const VALUE_END = new XmlTag("</value>");
export const STRUCT = new XmlTag("<struct>");
export const STRUCT_END = new XmlTag("</struct>");
export const MEMBER = new XmlTag("<member>");
export const MEMBER_END = new XmlTag("</member>");
export const NAME = new XmlTag("<name>");
export const NAME_END = new XmlTag("</name>");
export const ARRAY = new XmlTag("<array>");
export const ARRAY_END = new XmlTag("</array>");
export const DATA = new XmlTag("<data>");
export const DATA_END = new XmlTag("</data>");
export const RESPONSE = new XmlTag("<methodResponse>");
export const RESPONSE_END = new XmlTag("</methodResponse>");
export const PARAMS = new XmlTag("<params>");
export const PARAMS_END = new XmlTag("</params>");
export const PARAM = new XmlTag("<param>");
export const PARAM_END = new XmlTag("</param>");
