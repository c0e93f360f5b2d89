/** Reads the job of this process from its stdin. The parent wrote it: it is trusted to have the shape. */
export async function readJob<Job>(): Promise<Job> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString()) as Job;
}

/** Prints the figures for the parent process, and exits: the measurement may have left timers. */
export function reportFigures(figures: object): void {
  process.stdout.write(`${JSON.stringify({ figures })}\n`, () =>
    process.exit(0),
  );
}
