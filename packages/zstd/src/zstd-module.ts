import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

/** What of the package is used: zstd as WebAssembly, compiled by Emscripten. */
interface Module {
  /** The memory; another array after it has grown. */
  readonly HEAPU8: Uint8Array<ArrayBuffer>;
  _malloc(size: number): number;
  _free(address: number): void;
  _compressBound(size: number): number;
  /** @returns the bytes of the result, or -1 */
  _compress(
    to: number,
    capacity: number,
    from: number,
    size: number,
    level: number,
  ): number;
  /** @returns the bytes of the result, or -1, also if it does not fit */
  _decompress(to: number, capacity: number, from: number, size: number): number;
}

type Create = (options?: { wasmBinary: Uint8Array }) => Promise<Module>;

/** An empty one, named "b". */
const CUSTOM_SECTION = Buffer.from([0, 2, 1, 0x62]);

/** zstd frames, by memory that is used again for each. */
export class ZstdModule {
  readonly #module: Module;
  readonly #input: Area;
  readonly #output: Area;

  private constructor(module: Module) {
    this.#module = module;
    this.#input = new Area(module);
    this.#output = new Area(module);
  }

  /**
   * @param isShared whether V8 shares its code with the modules of other threads; one of its own keeps the flags of V8
   *   with which it was loaded
   */
  static async load({ isShared = true } = {}): Promise<ZstdModule> {
    const require = createRequire(import.meta.url);
    const create = require("@foxglove/wasm-zstd/dist/wasm-zstd.js") as Create;
    if (isShared) return new ZstdModule(await create());
    const file = require.resolve("@foxglove/wasm-zstd/dist/wasm-zstd.wasm");
    // Code is shared by modules with equal bytes.
    const wasmBinary = Buffer.concat([await readFile(file), CUSTOM_SECTION]);
    return new ZstdModule(await create({ wasmBinary }));
  }

  /** @throws Error */
  compress(plain: Uint8Array, level: number): Uint8Array<ArrayBuffer> {
    const capacity = this.#module._compressBound(plain.length);
    const from = this.#input.write(plain);
    const to = this.#output.reserve(capacity);
    const { length } = plain;
    const size = this.#module._compress(to, capacity, from, length, level);
    if (size < 0) throw new Error("zstd cannot compress this");
    return this.#module.HEAPU8.slice(to, to + size);
  }

  /**
   * @param size of the result at most, in bytes
   * @param into for the result, where it is large enough
   * @throws Error if these bytes are not a whole frame of at most this size
   */
  decompress<Into extends ArrayBufferLike>(
    stored: Uint8Array,
    size: number,
    into?: Uint8Array<Into>,
  ): Uint8Array<ArrayBuffer | Into> {
    const plain = this.decompressInPlace(stored, size);
    if (into === undefined || into.length < plain.length) return plain.slice();
    into.set(plain);
    return into.subarray(0, plain.length);
  }

  /**
   * @returns memory of the module, valid until the next call
   * @throws Error as {@link decompress}
   */
  decompressInPlace(stored: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
    const from = this.#input.write(stored);
    const to = this.#output.reserve(size);
    const written = this.#module._decompress(to, size, from, stored.length);
    if (written < 0) throw new Error("no zstd frame of this size");
    return this.#module.HEAPU8.subarray(to, to + written);
  }
}

/** A part of the memory of the module, as large as the largest that was needed. */
class Area {
  readonly #module: Module;
  #address = 0;
  #size = 0;

  constructor(module: Module) {
    this.#module = module;
  }

  /** @returns its address. @throws Error if there is no memory */
  reserve(size: number): number {
    if (size <= this.#size) return this.#address;
    this.#module._free(this.#address);
    this.#size = 0;
    this.#address = this.#module._malloc(size);
    if (this.#address === 0) throw new Error(`no memory for ${size} bytes`);
    this.#size = size;
    return this.#address;
  }

  write(bytes: Uint8Array): number {
    const address = this.reserve(bytes.length);
    this.#module.HEAPU8.set(bytes, address);
    return address;
  }
}
