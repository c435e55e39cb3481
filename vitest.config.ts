import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// Tests and examples import 'moirai' by name; this condition of package.json's exports leads them to the sources.
// The others are Vite's own defaults.
const conditions = ['moirai-source', 'module', 'node', 'development|production'];

const seeded = fileURLToPath(new URL('test/support/seeded-fast-check.ts', import.meta.url));

/**
 * Folders whose tests leave nothing behind in their thread: no change of a global, of the environment or of a driver. One thread runs many of
 * their files and loads each module once, which is most of what a small file costs.
 */
const leavesNothing = [
  'test/{sql-programs,sql-oracle}/**/*.test.ts',
  'test/{sql,mysql,innodb,explore}-*.test.ts',
  'src/{analyze,base,campaign,check,engine,evidence,explore,database,history,isolation,mockdb,protocol,report,serve,sql,sql-program,states,trace,verify,wire}/**/*.test.ts',
];

/** Files that share a thread come one after the other: a thread ends when the next file needs one of its own. */
class SharingLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- Vitest's, of a sequencer
    const sorted = await super.sort(files);
    const isShared = ({ project }: TestSpecification): boolean => !project.config.isolate;
    return [...sorted.filter((file) => !isShared(file)), ...sorted.filter(isShared)];
  }
}

export default defineConfig({
  plugins: [
    {
      name: 'properties-have-a-seed',
      enforce: 'pre',
      resolveId: (id, importer) => (id === 'fast-check' && importer !== seeded ? seeded : undefined),
    },
  ],
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'apart', include: ['src/**/*.test.ts', 'test/**/*.test.ts'], exclude: leavesNothing },
      },
      { extends: true, test: { name: 'sharing', include: leavesNothing, isolate: false } },
    ],
    sequence: { sequencer: SharingLast },
    globalSetup: ['test/support/server-data.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // An event that is polled for comes when the machine has time for it.
    expect: { poll: { timeout: 60_000 } },
    pool: 'threads',
    // Many tests wait for servers and other processes: on a machine of two cores, one worker leaves one of them idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
