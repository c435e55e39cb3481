/**
 * fast-check as tests get it (vitest.config.ts): properties without a seed of their own have the same one in every run, so that what fails today
 * fails again. MOIRAI_SEED is another run. A property that fails prints its seed and the path to its smallest counterexample.
 */
import { configureGlobal } from 'fast-check';

export * from 'fast-check';
export { default } from 'fast-check';

configureGlobal({ seed: Number(process.env['MOIRAI_SEED'] ?? 1) });
