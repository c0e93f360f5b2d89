import type { Queries } from "@xo-server/inventory";

/** The garbage collection (coalescing) that is still to be done on an SR. */
export interface ChainsInfo {
  /** Images that wait for coalescing in the chain of a disk, by the id of the disk. */
  readonly unhealthyVdis: Readonly<Record<string, number>>;
  /** Ids of disks whose parent is not on the SR. */
  readonly vdisWithUnknownVhdParent: readonly string[];
}

/** One image of a chain, from the VDI's sm_config. */
export interface Image {
  readonly id: string;
  readonly sr: string;
  readonly parent?: string | undefined;
  /** Whether it is the image of a disk, as opposed to a snapshot or an inner node. */
  readonly isDisk: boolean;
}

const TYPES = ["VDI", "VDI-snapshot", "VDI-unmanaged"];
const PAGE = 500;

/** @param sr id of an SR; absent: all SRs */
export async function readImages(
  queries: Pick<Queries, "page">,
  sr?: string,
): Promise<Image[]> {
  const images: Image[] = [];
  for (const type of TYPES) {
    let after: string | undefined;
    do {
      const page = await queries.page({
        type,
        sort: [],
        limit: PAGE,
        fields: ["parent", "$SR"],
        ...(sr === undefined ? {} : { filter: `$SR:"${sr}"` }),
        ...(after === undefined ? {} : { after }),
      });
      for (const [index, id] of page.ids.entries())
        images.push(toImage(id, type, page.rows[index]!));
      after = page.next;
    } while (after !== undefined);
  }
  return images;
}

function toImage(id: string, type: string, json: Uint8Array): Image {
  const row = JSON.parse(Buffer.from(json).toString()) as {
    readonly parent?: string;
    readonly $SR?: string;
  };
  const { parent, $SR: sr = "" } = row;
  return { id, sr, parent, isDisk: type === "VDI" };
}

/** An image with only one child can be coalesced with it. */
export class Chains {
  readonly #images: readonly Image[];
  readonly #byId = new Map<string, Image>();
  readonly #children = new Map<string, number>();
  readonly #unhealthy = new Map<string, Map<string, number>>();
  readonly #unknown = new Map<string, string[]>();

  constructor(images: readonly Image[]) {
    this.#images = images;
  }

  /** Searches in steps, which must be run before results are read. */
  *find(): Generator<void, void, void> {
    for (const [index, image] of this.#images.entries()) {
      const { id, parent } = image;
      this.#byId.set(id, image);
      if (parent !== undefined)
        this.#children.set(parent, (this.#children.get(parent) ?? 0) + 1);
      if (index % A_STEP === 0) yield;
    }
    for (const [index, image] of this.#images.entries()) {
      this.#addImage(image);
      if (index % A_STEP === 0) yield;
    }
  }

  /** Ids of the SRs with results. */
  srs(): string[] {
    return [...new Set([...this.#unhealthy.keys(), ...this.#unknown.keys()])];
  }

  of(sr: string): ChainsInfo {
    return {
      unhealthyVdis: Object.fromEntries(this.#unhealthy.get(sr) ?? []),
      vdisWithUnknownVhdParent: this.#unknown.get(sr) ?? [],
    };
  }

  #addImage(image: Image): void {
    const { id, sr, parent, isDisk } = image;
    const length = isDisk ? this.#chainLengthAbove(image) : 0;
    if (length > 0) {
      const disks = this.#unhealthy.get(sr) ?? new Map<string, number>();
      this.#unhealthy.set(sr, disks.set(id, length));
    }
    if (parent === undefined || this.#byId.has(parent)) return;
    this.#unknown.set(sr, [...(this.#unknown.get(sr) ?? []), id]);
  }

  #chainLengthAbove({ parent: first }: Image): number {
    let length = 0;
    let parent = first;
    for (let i = 0; i < LONGEST && parent !== undefined; i++) {
      if (this.#children.get(parent) === 1) length++;
      parent = this.#byId.get(parent)?.parent;
    }
    return length;
  }
}

/** Number of images per step, about 100 us of work. */
const A_STEP = 100;
/** Maximum length of a chain, because parents in a pool's data may form a cycle. */
const LONGEST = 256;
