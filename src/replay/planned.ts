/** The order in which a failing run on the mock database lets statements begin: the order of grants on a real server. */
import type { LoggedStatement } from '../sql-program/index.ts';

/**
 * By their beginning: a statement that waited for a lock, or read a snapshot that was taken before others committed, is granted before those. The
 * log has statements in the order in which they ended.
 */
export function inOrderOfBeginning(statements: readonly LoggedStatement[]): LoggedStatement[] {
  return statements.flatMap((ended, at) => {
    const begun = statements.filter(({ began }, later) => began === at && later > at);
    const own = ended.began < at ? [] : [ended];
    return ended.commits ? [...begun, ...own] : [...own, ...begun];
  });
}
