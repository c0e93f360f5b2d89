/**
 * Resolves when the condition holds. It is evaluated in each of the next turns of the event
 * loop, then each millisecond: threads need the CPU.
 */
export async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; !condition(); turn++)
    await new Promise<void>((resolve) => {
      if (turn < 50) setImmediate(resolve);
      else setTimeout(resolve, 1);
    });
}
