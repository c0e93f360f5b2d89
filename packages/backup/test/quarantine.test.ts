import { createHash } from "node:crypto";
import t from "tap";
import { quarantine } from "../src/verify/quarantine.js";
import { MemoryStorage } from "./memory-storage.js";

t.test(
  "a pack that another server repaired meanwhile is not moved away",
  async (t) => {
    const storage = new MemoryStorage();
    const bytes = Buffer.from("content");
    const digest = createHash("sha256").update(bytes).digest("hex");
    const file = `packs/${digest.slice(0, 2)}/${digest}`;
    await storage.putIfAbsent(file, [bytes]);
    t.equal(await quarantine(storage, file), undefined);
    t.ok((await storage.read(file)).equals(bytes));
    await storage.remove([file]);
    await storage.putIfAbsent(file, [Buffer.from("other")]);
    t.match(await quarantine(storage, file), /^quarantine\//);
    t.equal(await storage.size(file), undefined);
  },
);
