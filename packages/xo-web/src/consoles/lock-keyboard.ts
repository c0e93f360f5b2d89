interface Keyboard {
  lock(): Promise<void>;
}

/**
 * While the screen is full, Esc and what the system takes for itself go to the
 * guest too; holding Esc leaves it. Not all browsers can: with them, Esc leaves it at once.
 * https://wicg.github.io/keyboard-lock/
 */
export async function lockKeyboard(): Promise<void> {
  const { keyboard } = navigator as { readonly keyboard?: Keyboard };
  // Refused where the screen is not full any more.
  await keyboard?.lock().catch(() => undefined);
}
