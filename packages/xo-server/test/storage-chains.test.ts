import t from "tap";
import { Chains, type Image } from "../src/storage/vdi-chains.js";

const image = (id: string, parent?: string, isDisk = false): Image => ({
  id,
  parent,
  isDisk,
  sr: id.split("-")[0]!,
});

function find(images: readonly Image[]): Chains {
  const chains = new Chains(images);
  for (const step of chains.find()) void step;
  return chains;
}

t.test("images with one child are to be coalesced", async (t) => {
  const chains = find([
    image("a-disk", "a-2", true),
    image("a-2", "a-1"),
    image("a-1"),
    // Two disks on one image: it is in use.
    image("b-disk1", "b-base", true),
    image("b-disk2", "b-base", true),
    image("b-base"),
    image("c-disk", "c-lost", true),
    image("d-disk", undefined, true),
  ]);
  t.same(chains.of("a"), {
    unhealthyVdis: { "a-disk": 2 },
    vdisWithUnknownVhdParent: [],
  });
  t.same(chains.of("c").vdisWithUnknownVhdParent, ["c-disk"]);
  t.same(chains.srs(), ["a", "c"], "others have nothing to report");
});

t.test("images that point in a circle end somewhere", async (t) => {
  const chains = find([image("a-1", "a-2", true), image("a-2", "a-1", true)]);
  t.ok(chains.of("a").unhealthyVdis["a-1"]! > 1);
});
