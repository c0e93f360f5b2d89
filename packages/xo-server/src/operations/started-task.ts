/** The task that the handler of a call has started, for the audit log. */
export class StartedTask {
  #onStart: ((id: string) => Promise<void>) | undefined;

  /** @param onStart called with the id; never rejects */
  listen(onStart: (id: string) => Promise<void>): void {
    this.#onStart = onStart;
  }

  /**
   * To be called when the task starts: if the server ends before the call does, its entry in the audit log names the task.
   * Never rejects.
   */
  async note(id: string | undefined): Promise<void> {
    if (id !== undefined) await this.#onStart?.(id);
  }
}
