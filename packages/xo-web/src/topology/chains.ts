/** An image on an SR: a disk, a snapshot, or a base copy that others depend on. */
export interface Image {
  readonly id: string;
  readonly name: string;
  /** `VDI`, `VDI-snapshot`, `VDI-unmanaged`. */
  readonly type: string;
  readonly parent: string | undefined;
}

/** The chain of images that a disk reads through. */
export interface Chain {
  /** Id of the disk. */
  readonly id: string;
  readonly name: string;
  /** Number of images, including its own. */
  readonly length: number;
  readonly tone: "good" | "warn" | "bad";
}

/** XAPI refuses snapshots of VHD disks at 30 images; the warning comes earlier. */
const LONG = 15;
const TOO_LONG = 25;

/** The chains of the disks, longest first; disks with a single image have none. */
export function toChains(images: readonly Image[]): readonly Chain[] {
  const byId = new Map(images.map((image) => [image.id, image]));
  const chains: Chain[] = [];
  for (const image of images) {
    if (image.type !== "VDI" || image.parent === undefined) continue;
    const length = lengthOf(image, byId);
    const tone = length >= TOO_LONG ? "bad" : length >= LONG ? "warn" : "good";
    chains.push({ id: image.id, name: image.name, length, tone });
  }
  return chains.sort(
    (a, b) => b.length - a.length || (a.name < b.name ? -1 : 1),
  );
}

/** An unknown parent counts as an image; a cycle ends where it began. */
function lengthOf(image: Image, byId: ReadonlyMap<string, Image>): number {
  const seen = new Set([image.id]);
  let parent = image.parent;
  while (parent !== undefined && !seen.has(parent)) {
    seen.add(parent);
    parent = byId.get(parent)?.parent;
  }
  return seen.size;
}
