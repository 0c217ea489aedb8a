import { defineConfig } from 'vitest/config';

// What the viewer costs, measured when somebody asks for it.
export default defineConfig({
  test: { include: ['tests/times/**/*.test.ts'], fileParallelism: false, testTimeout: 1_200_000, hookTimeout: 300_000 },
});
