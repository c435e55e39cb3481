/** How one run of a SQL program is made. */
import type { Budget } from '../base/index.ts';
import type { Profile, SharedPlans, SqlDatabase, StatementEvent, Ways } from '../database/index.ts';
import type { FootprintRecorder } from '../engine/index.ts';
import type { Decisions } from '../mockdb/index.ts';
import type { ArrivalMemory } from './arrivals.ts';
import type { FinalState } from './final-state.ts';
import type { SharedSchema } from './shared-schema.ts';
import type { UnderWay } from './under-way.ts';

export interface SqlRunOptions {
  readonly profile: Profile;
  /** Access paths of statements, where they are not the likely ones. */
  readonly ways?: Ways;
  readonly decisions: Decisions;
  readonly seed: number;
  readonly abortRate: number;
  readonly timeoutMs: number;
  /** Of all runs together: when it is over, this one is given up. */
  readonly budget?: Budget;
  /** Keep what every statement did, and the steps of the run: for one that is shown or replayed. */
  readonly isLogged?: boolean;
  /** Look where in the user's code statements are sent: for a run with statements that moirai cannot do. Default false. */
  readonly findsPlaces?: boolean;
  /** Microseconds since 1970. Default: the machine's. */
  readonly clock?: () => bigint;
  /** How long the others wait for a session that awaits something other than the database. Default 1,000. */
  readonly waitMs?: number;
  /** What a verdict on the runs takes for granted, as clauses: runs add to it. Default: it is not kept. */
  readonly takenForGranted?: Set<string>;
  /** What earlier runs have shown about the program's waiting. Default: nothing. */
  readonly memory?: ArrivalMemory;
  /** Called with the database before the sessions begin, and of each statement with the number of its connection. */
  readonly onOpen?: (database: SqlDatabase) => void;
  readonly onStatement?: (connection: number, event: StatementEvent) => void;
  /** Called when all sessions have ended and the invariant is about to be asked. */
  readonly onJudge?: () => void;
  /** Called where the invariant has held, before the run ends. */
  readonly onHeld?: (state: FinalState) => Promise<void>;
  readonly footprints?: FootprintRecorder;
  /** What runs of this program with this profile have planned. Default: each plans for itself. */
  readonly sharedPlans?: SharedPlans;
  /** Texts of SELECTs that run as if FOR UPDATE stood at their end; those that differ in literals only are one. Default: none. */
  readonly lockedReads?: readonly string[];
  /** What the schema of this program comes to with this profile and such a clock. Default: each run makes it. */
  readonly sharedSchema?: SharedSchema;
  /** Called with the parts of the run. */
  readonly underWay?: UnderWay;
}
