// The icons of buttons.

const PATHS = {
  shown: 'M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12Zm10 3a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z',
  hidden: 'M3 3l18 18M10.6 5.1A9.7 9.7 0 0 1 12 5c6 0 10 7 10 7a17 17 0 0 1-3 3.7M6.6 6.6A17 17 0 0 0 2 12s4 7 10 7a9.6 9.6 0 0 0 4-.9M9.9 9.9a3 3 0 0 0 4.2 4.2',
  only: 'M12 3v4m0 10v4M3 12h4m10 0h4M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z',
  hand: 'M12 2v20M2 12h20M12 2l-3 3m3-3 3 3M12 22l-3-3m3 3 3-3M2 12l3-3m-3 3 3 3m17-3-3-3m3 3-3 3',
  lasso: 'M7 17c-3-1-5-3-5-6 0-4 4.500-7 10-7s10 3 10 7-4.500 7-10 7c-1 0-2-.1-3-.3M9 15.500a2 2 0 1 1-4 0 2 2 0 0 1 4 0Zm-2 2c0 2-1 3-3 4',
  box: 'M4 4h16v16H4z',
  fit: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  pen: 'M4 20l1-4L16 5l3 3L8 19l-4 1Zm10-13 3 3',
  close: 'M6 6l12 12M18 6 6 18',
  up: 'M12 19V5m-6 6 6-6 6 6',
};

export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
