import type { NbdServer } from "../nbd/nbd-server.js";
import type { HttpEndpoint } from "../net/http-endpoint.js";

/** Where the content of a disk is read from. */
export type DiskSource = ImageSource | NbdSource | StreamSource;

/** A raw image in a file or a block device of this machine. */
interface ImageSource {
  readonly type: "image";
  readonly path: string;
  /** Bytes; needed for block devices whose size the system does not report. */
  readonly size?: number;
}

/** An export of NBD servers that show the same content. */
interface NbdSource {
  readonly type: "nbd";
  /** Tried in this order; a later one replaces one that fails. */
  readonly servers: readonly NbdServer[];
  /** May hold a session: it is part of no message. */
  readonly exportName: string;
  /** 1 to 8; default 4. */
  readonly connections?: number;
  /** Milliseconds without a reply before a connection is replaced; default 30,000. */
  readonly stallMs?: number;
}

/** An HTTP response with the content of a disk from its beginning to its end. */
export interface StreamSource extends HttpEndpoint {
  readonly type: "stream";
  readonly format: "vhd" | "raw" | "xva";
  /** Of an XVA, which holds a whole VM: UUID of the disk in it. */
  readonly vdi?: string;
  /** Of a raw stream whose size is not known before its end, such as a file: bytes that it has at most. */
  readonly maxSize?: number;
}

/** Changed block tracking, as XAPI reports it. */
export interface ChangedBlocks {
  /** Base64: 1 bit a block of the whole disk, the most significant bit first. */
  readonly bitmap: string;
  /** Bytes of a block. */
  readonly grain: 65536;
}
