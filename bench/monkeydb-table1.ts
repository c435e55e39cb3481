/** Table 1: the average number of runs until an assertion fails, under causal. A trial is runs until the first failure. */
import { definition, registrationOverflow, removedRegistration } from '../examples/courseware.ts';
import shoppingCart from '../examples/shopping-cart.ts';
import treiberStack from '../examples/treiber-stack.ts';
import twitter from '../examples/twitter.ts';
import { seeded } from '#moirai/base';
import { ProgramRunner } from '#moirai/campaign';
import { drawing } from '#moirai/mockdb';
import { type Program, program } from '#moirai/program';
import type { BenchOptions } from './bench-options.ts';
import { tableLines } from './table.ts';

const assertions: readonly {
  readonly application: string;
  readonly assertion: string;
  readonly paper: number;
  readonly program: Program;
}[] = [
  { application: 'Stack', assertion: 'Element popped more than once', paper: 3.7, program: treiberStack },
  {
    application: 'Courseware',
    assertion: 'Course registration overflow',
    paper: 10.6,
    program: program({ ...definition, invariant: ({ results }) => registrationOverflow(results) }),
  },
  {
    application: 'Courseware',
    assertion: 'Removed course registration',
    paper: 57.5,
    program: program({ ...definition, invariant: ({ results }) => removedRegistration(results) }),
  },
  { application: 'Shopping', assertion: 'Item reappears after deletion', paper: 20.2, program: shoppingCart },
  { application: 'Twitter', assertion: 'Missing tweets in feed', paper: 6.3, program: twitter },
];

export async function table1({ quick, print }: BenchOptions): Promise<void> {
  const trials = quick ? 1_000 : 10_000;
  const rows = [
    ['application', 'assertion', 'runs to fail', '(paper)', 'ms a run', '(paper)', 'failures at serializable'],
  ];
  const paperMs = ['5', '9', '9', '7', '5'];
  for (const [i, { application, assertion, paper, program: tested }] of assertions.entries()) {
    const { runs, milliseconds } = await runsToFail(tested, trials);
    const serializable = await failuresAtSerializable(tested, trials);
    rows.push([
      application,
      assertion,
      (runs / trials).toFixed(1),
      paper.toFixed(1),
      (milliseconds / runs).toFixed(3),
      paperMs[i] ?? '',
      `${serializable} of ${trials}`,
    ]);
  }
  print();
  print(`Table 1: average runs to the first failure under causal, ${trials} trials each`);
  for (const line of tableLines(rows)) print(line);
}

async function runsToFail(tested: Program, trials: number): Promise<{ runs: number; milliseconds: number }> {
  const runner = new ProgramRunner(tested, 'causal');
  const start = performance.now();
  let runs = 0;
  for (let failures = 0; failures < trials; runs += 1) {
    const run = await runner.run(drawing({ chooser: seeded(1, runs) }));
    if (run.kind === 'finished' && run.violation !== null) failures += 1;
  }
  return { runs, milliseconds: performance.now() - start };
}

async function failuresAtSerializable(tested: Program, runs: number): Promise<number> {
  const runner = new ProgramRunner(tested, 'serializable');
  let failures = 0;
  for (let i = 0; i < runs; i += 1) {
    const run = await runner.run(drawing({ chooser: seeded(1, i) }));
    if (run.kind === 'finished' && run.violation !== null) failures += 1;
  }
  return failures;
}
