"""Take the pictures of the report that the documentation shows: ``python -m benchmarks.pictures``.

It runs the shipped study `quick` and MountainCar, and opens the report in a browser (Chromium, by
selenium). It takes about three minutes.
"""

import io
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "docs" / "results"
OPTIMIST = [sys.executable, "-m", "optimist"]
CAR = ["learn", "gym:MountainCar-v0", "--episodes", "500", "--seeds", "1", "--out", "car"]


def browser(width: int, height: int) -> Any:
    """A browser without a window, of a size."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options)
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    return driver


def save(png: bytes, name: str, part: tuple[int, int, int, int] | None = None) -> None:
    """Write a picture, at most 1,200 pixels wide."""
    from PIL import Image

    picture = Image.open(io.BytesIO(png)).convert("RGB").crop(part)
    picture.thumbnail((1200, 1600))
    picture.save(RESULTS / name, optimize=True)


def main() -> None:
    """Run what is shown, and take the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder)
        for words in (["sweep", "quick", "--out", "quick"], ["report", "quick"], CAR):
            subprocess.run([*OPTIMIST, *words], cwd=there, check=True)
        subprocess.run([*OPTIMIST, "report", "car", "--png"], cwd=there, check=True)
        car = there / "car" / "figures" / "optimism-gym-MountainCar-v0.png"
        save(car.read_bytes(), "mountain-car.png")
        take(there / "quick" / "report.html")


def take(report: Path) -> None:
    """The head of the report, and its board below the line that stays at the top."""
    driver = browser(1100, 1500)
    driver.get(report.as_uri())
    time.sleep(2)
    save(driver.get_screenshot_as_png(), "report.png", (0, 0, 1100, 690))
    driver.execute_script("document.querySelector('#picker').style.position = 'static'")
    save(driver.find_element("id", "optimism").screenshot_as_png, "report-optimism.png")
    driver.quit()


if __name__ == "__main__":
    main()
