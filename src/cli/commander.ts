/**
 * Commander's classes with the types that know each option's name. The typings' own module is not imported at run time: it imports whatever commander npm put
 * beside it, which is another package's older one where a project installs with `--legacy-peer-deps`.
 */
import * as commander from 'commander';
import type * as typed from '@commander-js/extra-typings';

// The typings describe the classes of the commander release whose number they share.
export const { Command, CommanderError, Option } = commander as unknown as typeof typed;
