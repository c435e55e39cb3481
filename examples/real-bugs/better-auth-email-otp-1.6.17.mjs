import { betterAuth } from 'better-auth-1.6.17';
import { emailOTP } from 'better-auth-1.6.17/plugins/email-otp';
import { emailOtp } from './better-auth-email-otp.mjs';

export default emailOtp({ betterAuth, emailOTP });
