/** Work in two parts: the first of several items at a time, the second of one item after the other, in their order. */
import { shareJobs } from '../base/index.ts';

interface Parts<Item, Prepared, Made, Worker> {
  /** Must not depend on what `use` does. */
  readonly prepare: (item: Item, worker: Worker) => Promise<Prepared>;
  readonly use: (item: Item, prepared: Prepared, worker: Worker) => Promise<Made>;
}

/** What `use` makes of each item: the same with any number of workers. With one, each item is used before the next one is prepared. */
export async function inOrder<Item, Prepared, Made, Worker>(
  items: readonly Item[],
  workers: readonly Worker[],
  { prepare, use }: Parts<Item, Prepared, Made, Worker>,
): Promise<readonly Made[]> {
  const prepared = new Map<number, Prepared>();
  const made: Made[] = [];
  let begun = 0;
  let isUsing = false;
  const useNext = async (worker: Worker): Promise<void> => {
    const at = made.length;
    // Both were there when the job was handed out.
    made.push(await use(items[at] as Item, prepared.get(at) as Prepared, worker));
    prepared.delete(at);
    isUsing = false;
  };
  const prepareAt = async (at: number, worker: Worker): Promise<void> => {
    prepared.set(at, await prepare(items[at] as Item, worker));
  };
  const next = (): ((worker: Worker) => Promise<void>) | null => {
    if (!isUsing && prepared.has(made.length)) {
      isUsing = true;
      return useNext;
    }
    if (begun === items.length) return null;
    const at = begun;
    begun += 1;
    return (worker) => prepareAt(at, worker);
  };
  const working = workers.map((worker) => (job: (worker: Worker) => Promise<void>) => job(worker));
  await shareJobs(working, { next, done: () => undefined });
  return made;
}
