import { defineConfig } from 'vitest/config';

// One node and one browser at a time: the tests share the machine's cores.
export default defineConfig({
  test: { include: ['tests/browser/**/*.test.ts'], fileParallelism: false, testTimeout: 120_000, hookTimeout: 120_000 },
});
