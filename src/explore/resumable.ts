/** What can be continued from a checkpoint: of programs that read and write keys, and of those that speak SQL. */
import { InputError } from '../base/index.ts';

interface Continued {
  readonly resume?: unknown;
  readonly onCheckpoint?: unknown;
  readonly failsFast?: boolean;
  readonly replay?: string;
}

/** @param replayed what `replay` names, as in 'one schedule' @throws InputError `option/checkpoint` */
export function requireResumable({ resume, onCheckpoint, failsFast, replay }: Continued, replayed: string): void {
  if (resume === undefined && onCheckpoint === undefined) return;
  if (failsFast === true)
    throw new InputError('option/checkpoint', 'an exploration that ends with the first violation has no checkpoints');
  if (replay !== undefined)
    throw new InputError('option/checkpoint', `${replayed} that is replayed has no checkpoints`);
}

/** A checkpoint of something else. */
export function otherExploration(why: string): InputError {
  return new InputError('explore/checkpoint', `the checkpoint does not continue this exploration: ${why}`);
}
