import { betterAuth } from 'better-auth-1.6.10';
import { magicLink as plugin } from 'better-auth-1.6.10/plugins/magic-link';
import { magicLink } from './better-auth-magic-link.mjs';

export default magicLink({ betterAuth, magicLink: plugin });
