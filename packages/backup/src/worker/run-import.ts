import { pipeline } from "node:stream/promises";
import type { ForeignSource } from "../foreign/foreign-vm.js";
import { OvaSource } from "../ovf/ova-source.js";
import { foreignImage, type ForeignPlan } from "../target/foreign-image.js";
import { openInput } from "./open-input.js";
import { openOutput } from "./open-output.js";
import type { AskingContext } from "./order-context.js";
import type { ImportResult } from "./order-results.js";
import type { ImportOperation } from "./work-order.js";

/** Asks how the VM is imported, then writes it. @throws RepositoryError */
export async function runImport(
  operation: ImportOperation,
  { signal, ask }: AskingContext,
): Promise<ImportResult> {
  const source = await openSource(operation);
  const plan = (await ask(source.vm)) as ForeignPlan;
  let written = 0;
  async function* counted(): AsyncGenerator<Buffer, void> {
    for await (const bytes of foreignImage(source, plan)) {
      yield bytes;
      written += bytes.length;
    }
  }
  await pipeline(counted(), openOutput(), { signal });
  return { written };
}

function openSource({ source }: ImportOperation): Promise<ForeignSource> {
  switch (source.type) {
    case "ova":
      return OvaSource.open(openInput());
  }
}
