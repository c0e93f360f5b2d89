/** 64 bits in two halves, both signed 32-bit numbers. */
export interface Digest {
  readonly high: number;
  readonly low: number;
}
