import type { MoiraiSide } from '../../conformance/moirai-side.ts';
import type { Side } from '../../conformance/schedule.ts';

/** moirai with a fault, which a comparison has to find: what it does otherwise is given. */
export function faulty(side: MoiraiSide, otherwise: Partial<Side>): Side {
  return {
    name: 'a faulty server',
    prepare: (schedule) => side.prepare(schedule),
    start: (step) => side.start(step),
    settle: () => side.settle(),
    ask: (sql) => side.ask(sql),
    finish: () => side.finish(),
    close: () => side.close(),
    ...otherwise,
  };
}
