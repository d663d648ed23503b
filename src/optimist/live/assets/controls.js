// Playback: which frame is shown, and what the run itself is asked to do.

class Player {
  constructor(store, show) {
    this.store = store;
    this.show = show;
    this.at = -1;
    this.mode = "play"; // or "pause", or "latest"
    this.speed = 10;
    this.waited = false; // whether the next frame is to be shown when it comes
    this.timer = null;
  }

  get frame() {
    return this.store.frames[this.at];
  }

  /** Whether there is nothing more to play. */
  get resting() {
    return Boolean(this.ended) && this.store.last >= 0 && this.at >= this.store.last;
  }

  get playing() {
    return this.mode === "play" && !this.resting;
  }

  set(mode) {
    this.mode = mode;
    this.waited = false;
    if (mode === "play" && this.resting) this.at = -1; // once more
    this.come();
    this.show();
  }

  /** A frame has come, or the mode is another. */
  come() {
    const { last } = this.store;
    if (this.mode === "latest" || (this.waited && this.at < last)) {
      this.waited = false;
      this.go(this.mode === "latest" ? last : this.at + 1);
    } else if (this.at < 0 && last >= 0) {
      this.go(0);
    }
    if (this.mode === "play" && this.timer === null && this.at < last) this.run();
  }

  run() {
    this.timer = setTimeout(() => {
      this.timer = null;
      if (this.mode !== "play") return;
      if (this.at < this.store.last) this.go(this.at + 1);
      if (this.at < this.store.last) this.run(); // or else when the next one comes
      else this.show();
    }, 1000 / this.speed);
  }

  go(index) {
    const at = Math.max(0, Math.min(index, this.store.last));
    if (this.store.last < 0) return;
    this.at = at;
    this.show();
  }

  /** One frame forward or back; at the latest, the next when it comes. */
  step(by) {
    if (this.mode !== "pause") this.mode = "pause";
    if (by > 0 && this.at >= this.store.last) {
      this.waited = true;
      return true;
    }
    this.go(this.at + by);
    this.show();
    return false;
  }
}

/** Ask the run for something; whether it could be. */
async function ask(run, what) {
  try {
    const answer = await fetch(`control?${new URLSearchParams({ run })}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(what),
    });
    return answer.ok;
  } catch {
    return false; // the server is gone, which the status says
  }
}
