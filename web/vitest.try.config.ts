import { defineConfig } from 'vitest/config';

// The page of `make try`, in one browser at a time.
export default defineConfig({
  test: { include: ['tests/try/**/*.test.ts'], fileParallelism: false, testTimeout: 240_000, hookTimeout: 120_000 },
});
