import { answerBudget, machineMemory } from "@xo-server/inventory";

interface AnswerLimits {
  /** Maximum size of a response of a pool that lists objects or events, in bytes. */
  readonly maxBodyBytes: number;
  /** Maximum size of any other response of a pool, in bytes. */
  readonly maxValueBytes: number;
}

/** @param configuredBytes parserPool.maxBodyBytes; 0: follows from the memory of the machine */
export function answerLimits(
  configuredBytes: number,
  memory = machineMemory(),
): AnswerLimits {
  const { listingBytes, valueBytes } = answerBudget(memory);
  const maxBodyBytes = configuredBytes || listingBytes;
  return { maxBodyBytes, maxValueBytes: Math.min(valueBytes, maxBodyBytes) };
}
