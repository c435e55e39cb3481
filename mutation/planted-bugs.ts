/**
 * Bugs to be planted one at a time. Each has to fail a test; `npm run mutation` plants them and says which do not. The tests that should see a bug are
 * named, so that each costs seconds.
 */
import { checkBugs } from './check-bugs.ts';
import { engineBugs } from './engine-bugs.ts';
import type { PlantedBug } from './planted-bug.ts';
import { sqlBugs } from './sql-bugs.ts';
import { verifyBugs } from './verify-bugs.ts';

export const plantedBugs: readonly PlantedBug[] = [...engineBugs, ...sqlBugs, ...verifyBugs, ...checkBugs];
