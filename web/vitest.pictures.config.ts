import { defineConfig } from 'vitest/config';

// Pictures for people, written when somebody asks for them.
export default defineConfig({
  test: { include: ['tests/pictures/**/*.test.ts'], fileParallelism: false, testTimeout: 120_000, hookTimeout: 120_000 },
});
