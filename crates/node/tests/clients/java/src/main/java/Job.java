import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import lehr.ApiClient;
import lehr.ApiException;
import lehr.api.LehrClusteringApi;
import lehr.api.LehrDatasetsApi;
import lehr.model.LehrClusteringInput;
import lehr.model.LehrClusteringOptions;
import lehr.model.LehrClusteringOrder;
import lehr.model.LehrClusteringPredict;
import lehr.model.LehrClusteringRows;
import lehr.model.LehrClusteringState;
import lehr.model.LehrClusteringWaitFor;
import lehr.model.LehrDatasetsUploadFile;

/** A whole job by the client that OpenAPI Generator has made. Arguments: the address of the node, and a table. */
public final class Job {
  private static final String NAME = "java-client";

  private Job() {}

  public static void main(String[] arguments) throws Exception {
    ApiClient node = new ApiClient();
    node.updateBaseUri(arguments[0]);
    LehrDatasetsApi datasets = new LehrDatasetsApi(node);
    LehrClusteringApi clustering = new LehrClusteringApi(node);

    String data = Base64.getEncoder().encodeToString(Files.readAllBytes(Path.of(arguments[1])));
    LehrDatasetsUploadFile file =
        new LehrDatasetsUploadFile().name(NAME).data(data).mediaType("text/csv").id("site");
    long rows =
        datasets
            .datasetsUpload(
                LehrDatasetsApi.APIDatasetsUploadRequest.newBuilder().lehrDatasetsUploadFile(file).build())
            .getRows();
    check(rows == 60, "60 rows, not " + rows);
    List<Map<String, Object>> read =
        datasets
            .datasetsGetRead(LehrDatasetsApi.APIDatasetsGetReadRequest.newBuilder().name(NAME).to(3L).build())
            .getJson();
    check(read.stream().map(row -> row.get("site")).toList().equals(List.of("s0", "s1", "s2")), read);

    LehrClusteringOrder order =
        new LehrClusteringOrder()
            .input(new LehrClusteringInput(NAME))
            .options(new LehrClusteringOptions().clusters(3L));
    String job =
        clustering
            .clusteringRun(
                LehrClusteringApi.APIClusteringRunRequest.newBuilder().lehrClusteringOrder(order).build())
            .getJob();
    LehrClusteringState state = wait(clustering, job);
    check(state == LehrClusteringState.DONE, state);
    LehrClusteringRows asked = new LehrClusteringRows().job(job).table("labels");
    List<Object> clusters =
        clusters(
            clustering
                .clusteringResult(
                    LehrClusteringApi.APIClusteringResultRequest.newBuilder().lehrClusteringRows(asked).build())
                .getJson());
    check(clusters.stream().distinct().count() == 3, clusters);
    check(IntStream.range(0, 60).allMatch(row -> clusters.get(row).equals(clusters.get(row % 3))), clusters);

    LehrClusteringPredict about = new LehrClusteringPredict().job(job).dataset(NAME);
    List<Object> predicted =
        clusters(
            clustering
                .clusteringPredict(
                    LehrClusteringApi.APIClusteringPredictRequest.newBuilder().lehrClusteringPredict(about).build())
                .getJson());
    check(predicted.equals(clusters), predicted);
    try {
      wait(clustering, "nothing");
      check(false, "a job that is not there");
    } catch (ApiException refused) {
      check(refused.getCode() == 404 && refused.getResponseBody().contains("unknown_entry"), refused);
    }
    System.out.println(clusters.size() + " labels, " + predicted.size() + " predicted");
  }

  private static LehrClusteringState wait(LehrClusteringApi clustering, String job) throws ApiException {
    LehrClusteringWaitFor asked = new LehrClusteringWaitFor().job(job);
    return clustering
        .clusteringWait(LehrClusteringApi.APIClusteringWaitRequest.newBuilder().lehrClusteringWaitFor(asked).build())
        .getState();
  }

  private static List<Object> clusters(List<Map<String, Object>> rows) {
    // Predictions are numbers that may be -1 and are written with a fraction; labels without outliers are whole.
    return rows.stream().<Object>map(row -> ((Number) row.get("cluster")).longValue()).toList();
  }

  private static void check(boolean holds, Object found) {
    if (!holds) {
      throw new AssertionError(String.valueOf(found));
    }
  }
}
