"""Dissimilarities, and the readers of files with items."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist, squareform
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import pairwise_distances as sklearn_distances

import lehr
from lehr._model import symmetric


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "cosine", "correlation"])
def test_rows_as_scipy_measures_them(metric, wine):
    name = {"manhattan": "cityblock"}.get(metric, metric)
    np.testing.assert_allclose(lehr.pairwise_distances(wine, metric), cdist(wine, wine, name), rtol=1e-9, atol=1e-9)


def test_condensed_is_the_upper_half(wine):
    full = lehr.pairwise_distances(wine)
    np.testing.assert_array_equal(squareform(lehr.pairwise_distances(wine, condensed=True)), full)
    single = lehr.pairwise_distances(wine, dtype=np.float32)
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, full.astype(np.float32))


def test_a_gap_in_a_row_is_left_out():
    # The rows share one of two columns, so its squared difference, 16, counts twice.
    assert lehr.pairwise_distances([[0.0, 0.0], [4.0, np.nan]])[0, 1] == pytest.approx(32**0.5)


def test_sequences():
    genes = ["ACGTACGTAC", "ACGTACCTAC", "TTGTACCTAC"]
    assert lehr.pairwise_distances(genes)[0, 1] == pytest.approx(0.1)
    assert lehr.pairwise_distances(genes, alignment="given")[0, 2] == pytest.approx(0.3)
    assert lehr.pairwise_distances(genes, "score-over-smaller", alignment="global").shape == (3, 3)


def test_fingerprints_packed_and_pickled():
    prints = lehr.Fingerprints(np.array([[0b0111], [0b0011], [0b1000]], dtype=np.uint8), 4, ids=["a", "b", "c"])
    D = lehr.pairwise_distances(prints)
    np.testing.assert_allclose(D[0], [0.0, 1 / 3, 1.0])
    copy = pickle.loads(pickle.dumps(prints))
    np.testing.assert_array_equal(copy.packed(), prints.packed())
    assert copy.ids == ["a", "b", "c"]


def test_sequences_are_read_compared_and_pickled(tmp_path):
    path = tmp_path / "genes.fasta"
    path.write_text(">one first\nacgt\nAC\n>two\nACGN\n>three\nACGTAC\n")
    genes = lehr.read_fasta(path)
    assert genes.ids == ["one", "two", "three"] and genes[-1] == "ACGTAC"
    distinct, counts, inverse = genes.distinct()
    assert (len(distinct), counts.tolist(), inverse.tolist()) == (2, [2.0, 1.0], [0, 1, 0])
    copy = pickle.loads(pickle.dumps(genes))
    assert [copy[i] for i in range(3)] == [genes[i] for i in range(3)] and copy.ids == genes.ids


def test_faults_of_a_file_are_named_with_their_lines(tmp_path):
    path = tmp_path / "genes.fasta"
    path.write_text(">one\nACGTACGTAC\nA?\n>two\n")
    with pytest.raises(ValueError, match=r"line 3.*'\?'[\s\S]*line 4"):
        lehr.read_fasta(path)
    with pytest.raises(FileNotFoundError):
        lehr.read_fasta(tmp_path / "none.fasta")


def test_fps(tmp_path):
    path = tmp_path / "compounds.fps"
    path.write_text("#FPS1\n#num_bits=12\n0b01\tone\n0000\ttwo\n")
    prints = lehr.read_fps(path)
    assert (prints.n_bits, prints.ids) == (12, ["one", "two"])
    assert prints.packed().tolist() == [[0x0B, 0x01], [0, 0]]


def test_smiles(tmp_path):
    path = tmp_path / "compounds.smi"
    path.write_text("CCO ethanol\nC1=CC=CC=C1\nc1ccccc1 benzene\n")
    prints = lehr.read_molecules(path)
    assert (prints.n_bits, prints.ids) == (2048, ["ethanol", "1", "benzene"])
    packed = prints.packed()
    # The hashes of ethanol, as RDKit computes them, modulo the number of bits.
    bits = sorted(value % 2048 for value in (864662311, 1535166686, 2245384272, 2246728737, 3542456614, 4018048386))
    assert np.flatnonzero(np.unpackbits(packed[0], bitorder="little")).tolist() == bits
    assert packed[1].tolist() == packed[2].tolist() != packed[0].tolist()
    path.write_text("CCO a\nC(C b\n")
    with pytest.raises(ValueError, match=r"line 2: expected SMILES with a \) for this \("):
        lehr.read_molecules(path)
    with pytest.raises(ValueError, match="'fingerprint' parameter must be 'morgan' or 'maccs'"):
        lehr.read_molecules(path, fingerprint="ecfp")


def test_sd_files(tmp_path):
    path = tmp_path / "compounds.sdf"
    atoms = "    0.0000    0.0000    0.0000 C   0  0\n    1.4000    0.0000    0.0000 O   0  0\n"
    path.write_text(f"methanol\n\n\n  2  1  0  0  0  0            999 V2000\n{atoms}  1  2  1  0\nM  END\n$$$$\n")
    prints = lehr.read_molecules(path, fingerprint="maccs")
    assert (prints.n_bits, prints.ids) == (167, ["methanol"])
    # The keys of methanol in RDKit.
    assert np.flatnonzero(np.unpackbits(prints.packed()[0], bitorder="little")).tolist() == [93, 139, 157, 160, 164]


def test_rdkit():
    structs = pytest.importorskip("rdkit.DataStructs")
    vector = structs.CreateFromBitString("1101")
    assert lehr.fingerprints_from_rdkit([vector]).packed().tolist() == [[0b1011]]


def test_options_of_sequences_go_with_sequences_only():
    with pytest.raises(ValueError, match="'gap_open' parameter must be with sequences. Got rows instead"):
        lehr.pairwise_distances([[0.0], [1.0]], gap_open=10)
    with pytest.raises(ValueError, match="'metric' parameter must be one of sequences. Got euclidean, which is one of rows instead"):
        lehr.pairwise_distances(["ACGT", "ACGA"], "euclidean")


def test_words_and_ranges_are_those_of_the_declaration():
    with pytest.raises(ValueError, match="'metric' parameter must be identity, identity-without-gaps, .*, gower. Got euclid instead"):
        lehr.pairwise_distances([[0.0], [1.0]], "euclid")
    with pytest.raises(ValueError, match="'overlap' parameter must be 0 to 1. Got 2 instead"):
        lehr.pairwise_distances(["ACGT", "ACGA"], overlap=2.0)
    with pytest.raises(ValueError, match=r"'gap_extend' parameter must be at most the cost of opening a gap \(1\). Got 4 instead"):
        lehr.pairwise_distances(["ACGT", "ACGA"], gap_open=1, gap_extend=4)


def test_costs_of_gaps_in_their_earlier_form():
    genes = ["ACGTACGTAC", "ACGTCGTAC", "TTGTACCTAC"]
    costs = {"gap_open": 3, "gap_extend": 1, "alignment": "global"}
    np.testing.assert_array_equal(lehr.pairwise_distances(genes, gap=(3, 1), alignment="global"), lehr.pairwise_distances(genes, **costs))
    with pytest.raises(ValueError, match="earlier form"):
        lehr.pairwise_distances(genes, gap=(3, 1), gap_open=3)


def test_standardised_rows_with_gaps(wine):
    X = wine.copy()
    X[::7, 3] = np.nan
    scaled = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    np.testing.assert_allclose(lehr.pairwise_distances(X, standardize=True), lehr.pairwise_distances(scaled), rtol=1e-9)


@pytest.mark.parametrize("condensed", [False, True])
def test_what_local_alignment_leaves_out_is_told(condensed):
    genes = ["ACGT", "ACGA", "TTTT", "ACGT"]
    with pytest.warns(UserWarning) as caught:
        lehr.pairwise_distances(genes, condensed=condensed)
    said = [str(warning.message) for warning in caught]
    assert said[0].startswith("3 of 6 pairs of sequences have no distance (NaN)") and "alignment='global'" in said[0]
    assert said[1].startswith("2 of 6 pairs of different sequences are at distance 0.") and len(said) == 2
    assert {warning.filename for warning in caught} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = lehr.pairwise_distances(genes, alignment="global", condensed=condensed)
        lehr.pairwise_distances(["ACGTACGTAC", "ACGTACCTAC"])
    assert not np.isnan(whole).any()


def test_ambiguous_nucleotides_are_left_out_or_differ_28():
    genes = lehr.Sequences(["ACGN", "ACTN", "ACGA"])
    found = [lehr.pairwise_distances(genes, "p-distance", ambiguous=word, condensed=True).tolist() for word in ("skip", "differ")]
    assert found[0] == pytest.approx([1 / 3, 0.0, 1 / 3])
    assert found[1] == pytest.approx([0.25, 0.25, 0.5])


def test_sequences_and_fingerprints_are_sliced_as_arrays_are_28():
    genes = lehr.Sequences(["ACGT", "TTTT", "GGGG"], ids=["a", "b", "c"])
    assert (genes[1], genes[-1]) == ("TTTT", "GGGG")
    for key in (slice(0, 3, 2), [0, 2], np.array([0, -1]), [True, False, True], np.array([True, False, True])):
        some = genes[key]
        assert (some.ids, some[1], some.alphabet) == (["a", "c"], "GGGG", "dna")
    described = lehr.Sequences(["ACGT", "TTTT"], descriptions=["first gene", ""])
    assert (genes.descriptions, described[::-1].descriptions) == ([""] * 3, ["", "first gene"])
    assert pickle.loads(pickle.dumps(described)).descriptions == ["first gene", ""]
    with pytest.raises(ValueError, match="descriptions"):
        lehr.Sequences(["ACGT"], descriptions=["a", "b"])
    with pytest.raises(ValueError, match="at least one sequence"):
        genes[:0]
    with pytest.raises(IndexError, match="a mask of 2 entries for 3 items"):
        genes[[True, False]]
    with pytest.raises(TypeError):
        genes["a"]
    prints = lehr.Fingerprints(np.array([[1], [2], [4]], dtype=np.uint8), 3, ["a", "b", "c"])
    assert prints[1:].packed().tolist() == [[2], [4]] and prints[[2, 0]].ids == ["c", "a"]


def test_files_keep_the_text_after_ids_and_tell_of_ids_that_are_shared_28(tmp_path):
    genes = tmp_path / "genes.fasta"
    genes.write_text(">a  first gene\nACGT\n>b\nTTTT\n>c\tlast\nGGGG\n")
    assert lehr.read_fasta(genes).ids == ["a", "b", "c"]
    assert lehr.read_fasta(genes).descriptions == ["first gene", "", "last"]
    twice = {"g.fasta": ">a\nACGT\n>a\nTTTT\n", "p.fps": "#FPS1\n#num_bits=8\n01\ta\n03\ta\n", "m.smi": "CCO a\nCCN a\n"}
    for read, (name, text) in zip((lehr.read_fasta, lehr.read_fps, lehr.read_molecules), twice.items(), strict=True):
        (tmp_path / name).write_text(text)
        with pytest.warns(UserWarning, match=f'{name}: 1 id occurs for several items.*"a" .items 0 and 1.') as caught:
            read(tmp_path / name)
        assert caught[0].filename == __file__


def test_one_set_against_another_is_the_block_of_both_28(wine):
    rows = np.asarray(wine)[:30]
    for metric in ("euclidean", "sqeuclidean", "manhattan", "cosine", "correlation"):
        block = lehr.pairwise_distances(rows[:20], rows[20:], metric)
        assert np.array_equal(block, lehr.pairwise_distances(rows, metric)[:20, 20:])
    genes = lehr.Sequences(["ACGTACGTAC", "ACGTACCTAC", "TTTTACGTAC", "ACGTACGTAA"])
    whole = lehr.pairwise_distances(genes, alignment="global")
    assert np.array_equal(lehr.pairwise_distances(genes[:1], genes[1:], alignment="global", n_jobs=2), whole[:1, 1:])
    prints = lehr.Fingerprints(np.array([[1], [3], [4]], dtype=np.uint8), 3)
    assert np.array_equal(lehr.pairwise_distances(prints[:2], prints[2:]), lehr.pairwise_distances(prints)[:2, 2:])
    assert lehr.pairwise_distances(rows[:2], rows[2:5], dtype=np.float32).dtype == np.float32
    # Place new items in a map of the earlier items.
    old = lehr.SMACOF(1, metric="precomputed").fit(whole[:3, :3])
    assert old.transform(lehr.pairwise_distances(genes[3:], genes[:3], alignment="global")).shape == (1, 1)
    with pytest.raises(ValueError, match="items of the same kind"):
        lehr.pairwise_distances(genes, prints)
    with pytest.raises(ValueError, match="condensed"):
        lehr.pairwise_distances(rows, rows, condensed=True)


def test_two_sets_of_sequences_have_the_warnings_of_one():
    with pytest.warns(UserWarning) as caught:
        found = lehr.pairwise_distances(["ACGT", "ACGA", "TTTT"], ["ACGT", "ACGA"])
    assert found.shape == (3, 2) and caught[0].filename == __file__
    told = [str(one.message).partition(":")[0] for one in caught]
    assert told == [
        "2 of 6 pairs of sequences have no distance (NaN), because too little of them matches. Local alignment compares the parts that match best",
        "2 of 6 pairs of different sequences are at distance 0. Local alignment compares the parts that match best",
    ]


def test_truth_values_are_compared_as_such_and_others_are_told():
    X = np.random.default_rng(0).random((12, 6)) < 0.6
    expected = sklearn_distances(X, metric="jaccard")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = lehr.KMedoids(2, metric="jaccard").fit(X)
    np.testing.assert_allclose(model.transform(X), expected[:, model.medoid_indices_])
    with pytest.warns(DataConversionWarning, match="metric 'jaccard' compares truth values") as caught:
        lehr.SMACOF(metric="jaccard").fit(3.0 * X)
    assert caught[0].filename == __file__


def test_rows_with_gaps_are_compared_by_nan_euclidean():
    X = np.random.default_rng(1).normal(size=(20, 4))
    X[3, 1] = X[7, 2] = np.nan
    for estimator in (lehr.SMACOF(metric="nan_euclidean"), lehr.KMedoids(3, metric="nan_euclidean"), lehr.AgglomerativeClustering(3, metric="nan_euclidean"), lehr.PairwiseClustering(3, metric="nan_euclidean")):
        estimator.fit(X)
    expected = lehr.SMACOF(metric="precomputed").fit(sklearn_distances(X, metric="nan_euclidean"))
    np.testing.assert_allclose(lehr.SMACOF(metric="nan_euclidean").fit(X).stress_, expected.stress_, rtol=1e-6)
    with pytest.raises(ValueError, match="contains NaN"):
        lehr.SMACOF().fit(X)


def test_gower_compares_columns_of_several_kinds_as_its_definition():
    rng = np.random.default_rng(3)
    rows = 40
    frame = pd.DataFrame({
        "age": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(40, 12, rows)),
        "income": rng.lognormal(8, 1, rows),
        "city": [None if place == 3 else ["Bern", "Basel", "Chur"][place] for place in rng.integers(0, 4, rows)],
        "joined": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, rows), unit="D"),
    })
    found = lehr.pairwise_distances(frame, metric="gower")
    sums, columns = np.zeros((rows, rows)), np.zeros((rows, rows))
    for name in frame:
        known = frame[name].notna().to_numpy()
        if name == "city":
            values = frame[name].fillna("").to_numpy()
            apart = (values[:, None] != values[None, :]).astype(float)
        else:
            values = (frame[name] - frame[name].min()) / (frame[name].max() - frame[name].min())
            apart = np.abs(np.subtract.outer(values.to_numpy(), values.to_numpy()))
        both = np.outer(known, known)
        sums[both] += apart[both]
        columns[both] += 1
    np.testing.assert_allclose(found, sums / columns, atol=1e-12)
    assert lehr.PairwiseClustering(2, metric="precomputed").fit(found).n_clusters_ == 2
    # Rows whose columns have no names are compared in all columns.
    np.testing.assert_allclose(lehr.pairwise_distances([[0.0, "a"], [1.0, "b"], [4.0, "a"]], metric="gower")[0], [0, (0.25 + 1) / 2, 0.5])
    with pytest.warns(UserWarning, match=r"leaves out same \(constant\)"):
        lehr.pairwise_distances(frame.assign(same="x"), metric="gower")
    with pytest.raises(ValueError, match="expected no Y"):
        lehr.pairwise_distances(frame, frame, metric="gower")
    with pytest.raises(ValueError, match="gower divides each column by its range"):
        lehr.pairwise_distances(frame, metric="gower", standardize=True)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_rounding_between_the_halves_of_a_matrix_is_removed_and_other_differences_stay(kind):
    # So many items that the matrix has several blocks, and the last one is small.
    whole = np.random.default_rng(0).random((600, 600)).astype(kind)
    whole = whole + whole.T
    whole[3, 500] = whole[500, 3] = np.nan
    rounded = whole * np.random.default_rng(1).choice([1, 1 + np.finfo(kind).eps], whole.shape).astype(kind)
    before = rounded.copy()
    assert_array_equal(symmetric(rounded), (rounded + rounded.T) / 2)
    assert_array_equal(rounded, before)
    assert symmetric(whole) is whole
    other = whole.copy()
    other[580, 20] += 1
    assert symmetric(other) is other
