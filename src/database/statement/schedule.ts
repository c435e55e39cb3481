/** A statement that reads or changes what others see goes through the scheduler. */
import type { Wait, Waiting } from '../../sql/model/index.ts';
import type { SessionParts } from '../session/index.ts';
import { statementLimits } from './statement-limits.ts';

/** Runs when the scheduler lets it. @param isRead does it only read? */
export function schedule<T>({ instance, state }: SessionParts, steps: Waiting<T>, isRead = false): Promise<T> {
  const looking = lookingAs(() => instance.catalog.lookAs(state.id), steps);
  return instance.scheduler.run(state.id, looking, statementLimits(instance, state, isRead));
}

/** Tells the catalog who looks each time the steps run. */
function* lookingAs<T>(look: () => void, steps: Waiting<T>): Waiting<T> {
  let interruption: { readonly error: unknown } | null = null;
  for (;;) {
    look();
    const step: IteratorResult<Wait, T> = interruption === null ? steps.next() : steps.throw(interruption.error);
    interruption = null;
    if (step.done === true) return step.value;
    try {
      yield step.value;
    } catch (error) {
      interruption = { error };
    }
  }
}
