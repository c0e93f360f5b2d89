import { randomBytes } from "node:crypto";
import t from "tap";
import { ZstdModule } from "@xo-server/zstd";

t.test("what was compressed is returned when it is decompressed", async (t) => {
  const zstd = await ZstdModule.load();
  const text = Buffer.from('{"name_label":"vm"},'.repeat(10_000));
  const stored = zstd.compress(text, 1);
  t.ok(stored.length < text.length / 50, `${stored.length} bytes`);
  t.same(Buffer.from(zstd.decompress(stored, text.length)), text);
  const noise = randomBytes(100_000);
  const kept = zstd.compress(noise, 1);
  t.same(Buffer.from(zstd.decompressInPlace(kept, noise.length)), noise);
});

t.test(
  "other bytes, a cut frame and one that is longer than expected are refused",
  async (t) => {
    const zstd = await ZstdModule.load();
    const stored = zstd.compress(randomBytes(1_000), 1);
    const message = "no zstd frame of this size";
    t.throws(() => zstd.decompress(stored, 999), { message });
    t.throws(() => zstd.decompress(stored.subarray(0, 500), 1_000), {
      message,
    });
    t.throws(() => zstd.decompress(randomBytes(1_000), 1_000), { message });
    t.equal(zstd.decompress(stored, 1_000).length, 1_000, "it still works");
  },
);
