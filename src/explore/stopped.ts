/** Why an exploration ended before it had listed everything, as a clause. Names are the user's: print it through `printable`. */
import { stopText } from '../base/index.ts';
import type { ExploreResult } from './explore-result.ts';

export function stoppedBy(stopped: ExploreResult['stopped']): string {
  if (typeof stopped === 'object' && stopped !== null) {
    if (stopped.session === null) return 'the invariant did not end in time';
    return `session "${stopped.session}" did not end in time; its last operation: ${stopped.lastOperation}`;
  }
  switch (stopped) {
    case 'histories':
      return 'stopped by --max-histories';
    case 'time':
    case 'interrupted':
      return stopText(stopped);
    case 'violation':
      return 'the first violation ends it';
    case 'search':
      return 'the search for a commit order of one history gave up';
    case 'endless':
      return 'the program does not end on some path: a loop that waits for a value can wait for ever';
    case 'replay':
      return 'one history was replayed';
    case null:
      return 'some are left';
  }
}
