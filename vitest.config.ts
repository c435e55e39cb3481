import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Tests and examples import 'moirai' by name; this condition of package.json's exports leads them to the sources.
// The others are Vite's own defaults.
const conditions = ['moirai-source', 'module', 'node', 'development|production'];

const seeded = fileURLToPath(new URL('test/support/seeded-fast-check.ts', import.meta.url));

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
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // An event that is polled for comes when the machine has time for it.
    expect: { poll: { timeout: 60_000 } },
    pool: 'threads',
    // Many tests wait for servers and other processes: on a machine of two cores, one worker leaves one of them idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
